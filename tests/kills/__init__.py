"""Whatever is killed whenever: no wrong green, no good output lost, the next run finishes the job.

``python -m tests.kills --rounds 1000 --seed 7`` kills at random moments of real commands;
``python -m tests.kills --points`` dies at every single write of each writing verb.
"""
