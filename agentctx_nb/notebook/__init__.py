"""The door for a person: magics that parse, call the core and return what shows itself."""
