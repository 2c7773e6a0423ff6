from oversim._native import version
