"""A hostile repository, agent, page or machine: what must hold all the same."""
