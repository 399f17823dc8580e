from nhalf.node.described import described as described
