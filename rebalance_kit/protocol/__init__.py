"""How they agree: sans-IO machines of both group protocols, coordinator side and client side."""
