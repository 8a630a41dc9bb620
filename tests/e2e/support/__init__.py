"""Stand-ins for the watched world, and the program under test at the other end."""
from .case import BINARY, FAST, Case
from .processes import wait_until

__all__ = ["BINARY", "FAST", "Case", "wait_until"]
