"""How the project is put together: settings, processes, URLs and the embedded development servers."""
