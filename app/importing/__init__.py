"""What other programs exported: chats, memories, lorebooks and characters.

Owns how each format is read, and how what was read comes into the store. One idea: a reader turns a stream into items
and never knows a store; the service writes items as any caller does, and remembers by a mark of each that it came, so
that a second run changes nothing and one that was broken off goes on.
"""
