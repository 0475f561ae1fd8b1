"""Who is this? The memory of a space by category, for the first message of a conversation.

Reads only; may import the domain and the assembly's rendering.
"""
