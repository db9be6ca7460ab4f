"""What the interop tests share.

Importing it makes `reference` of `fixtures/tools` importable and keeps pylance quiet.
"""

import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]

sys.path.insert(1, str(REPOSITORY / "fixtures" / "tools"))

os.environ.setdefault("LANCE_LOG", "error")
os.environ.setdefault("RUST_BACKTRACE", "0")
