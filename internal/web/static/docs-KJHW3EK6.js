import"./chunk-MRLPPQ55.js";import"./chunk-ULHOZUOK.js";import"./chunk-SQE76S5B.js";
