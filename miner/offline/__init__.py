"""A generator without a model: it composes strategies into stems and stand-alone verifiers, in the protocol's form."""
