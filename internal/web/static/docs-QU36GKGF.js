import"./chunk-XY3DIGSN.js";import"./chunk-COVZ3MKU.js";import"./chunk-SQE76S5B.js";
