import"./chunk-L2NPQ5IL.js";import"./chunk-3OFUCE7W.js";import"./chunk-SQE76S5B.js";
