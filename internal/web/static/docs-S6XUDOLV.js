import"./chunk-SLKAY5LJ.js";import"./chunk-JHBNDILD.js";import"./chunk-SQE76S5B.js";
