"""The guild queue: order, lane, claims and the record of who changed them."""
