import"./chunk-M534I6DJ.js";import"./chunk-MW6X6SCL.js";import"./chunk-SQE76S5B.js";
