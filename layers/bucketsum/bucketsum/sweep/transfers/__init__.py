"""Transfer data sets from S3: clients, patterns and destinations, with a time for each file."""
