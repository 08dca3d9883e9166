"""What the runtime promises, under every order of steps and every fault that a seed chooses."""
