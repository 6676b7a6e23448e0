"""The gym: fixtures, lanes and rounds in which agents are measured."""
