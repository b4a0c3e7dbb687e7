"""`python -m tem` is the command `tem`."""
from ._command import main

main()
