import"./chunk-P2YAK2UD.js";import"./chunk-TIUHMLG6.js";import"./chunk-SQE76S5B.js";
