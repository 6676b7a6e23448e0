"""Experience of a brain: written without waiting, read as data, dreamt over beside the calls."""
