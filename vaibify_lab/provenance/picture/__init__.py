"""A lineage as a picture: ``boxes`` (what is shown), ``layout`` (where), ``svg`` (how)."""
