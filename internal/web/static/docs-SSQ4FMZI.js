import"./chunk-DAJHRCI4.js";import"./chunk-CZUSTRYR.js";import"./chunk-SQE76S5B.js";
