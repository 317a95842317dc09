"""Numbers of the lab that are dragged: which there are, the size of the group, and a drag as one deed."""
