"""Ricordo: memory as a service. docs/architecture.md shows how the packages fit."""
