import"./chunk-QYQTDSWT.js";import"./chunk-Z7JFNOQD.js";import"./chunk-SQE76S5B.js";
