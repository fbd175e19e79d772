"""What examples/own-environment.yaml runs: a table, by a package that the lender need not have."""
import os
import sys

from tabulate import tabulate

print(tabulate([("worker", os.environ["SOUK_INDEX"]), ("Python", sys.version.split()[0])]))
