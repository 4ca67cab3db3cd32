import"./chunk-N7PD2JMT.js";import"./chunk-FGIJ4UNB.js";import"./chunk-SQE76S5B.js";
