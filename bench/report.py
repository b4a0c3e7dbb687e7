def write(data): pass
