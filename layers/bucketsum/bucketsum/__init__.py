"""What both paths of bucketsum run, byte for byte the same.

Read the modules in the order the data travels:
``arrivals`` → ``source`` → ``digest`` → ``hashing`` → ``ledger``, and ``redelivery`` for a
message that could not be handled.
"""

__version__ = "0.1.0"
