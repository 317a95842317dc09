"""Items: values, files, schema, lint, the bank and the exam blueprint."""
