"""A run made ready to be played: packed for the page, fetched ahead, and long enough to show an effect."""
