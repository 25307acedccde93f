"""``python -m vaibify_lab.apps VERB``: the command line of exactly this Python."""

import sys

from vaibify_lab.apps.main import main

sys.exit(main())
