import"./chunk-2PCI4JNO.js";import"./chunk-UTZUTSTK.js";import"./chunk-SQE76S5B.js";
