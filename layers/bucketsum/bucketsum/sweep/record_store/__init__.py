"""Random reads of small records from one data set in several storage layouts."""
