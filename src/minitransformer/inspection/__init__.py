"""What heads look at, which of them matter, and what their weights do and do not show.

- ``patterns``: how much weight goes to the token before, to the first token, to copies ...
- ``measures``: the losses by which an intervention is judged, one number a text
- ``ablation``: heads replaced by zero or by their mean, and their importance by gradient
- ``pruning``: heads taken out for good, parameters and all
- ``attribution``: weights times value norms, rollout, gradient times input, leave-one-out
- ``counterfactuals``: weights shuffled, made equal, or made by an adversary

No function changes the model or the tensors that it is given.
"""
