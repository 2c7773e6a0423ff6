from oversim._native import version
from oversim.policy import Choice, Parameter, Policy, QueueEntry
