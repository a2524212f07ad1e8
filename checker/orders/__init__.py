"""A simulated broker and the strategies that need one: brackets, stops, trails, slippage. See docs/orders.md."""
