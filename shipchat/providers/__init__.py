"""What answers: one module a provider behind `core.protocols.Provider`; what to send them is decided elsewhere."""
