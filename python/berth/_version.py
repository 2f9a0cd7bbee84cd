"""The version of the package; that of the library is library_version()."""

__version__ = "0.1.0"
