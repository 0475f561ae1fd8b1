"""The door for models: tools and resources of the Model Context Protocol.

Each tool is one call of the HTTP API, made with the caller's own key: in this process for `/mcp`, over the network for
`ricordo mcp`. So keys, roles, limits and errors are those of the API, whichever way a model comes in. Imports nothing
of the rest but how the API words what is wrong with a field.
"""
