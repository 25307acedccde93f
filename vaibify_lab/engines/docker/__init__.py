"""Steps in containers: one hardened, labelled container a step, by Docker or what speaks its API.

``engine.DockerEngine`` is the way in. Importing this package does not import ``docker``; only
``client`` and ``daemon`` do, when an engine is asked for.
"""
