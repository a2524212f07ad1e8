"""A simulated broker and the strategies that need one: brackets, stops, trailing stops, slippage. See docs/orders.md."""
