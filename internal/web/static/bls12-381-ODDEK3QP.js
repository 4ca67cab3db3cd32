import{u as a,v as b}from"./chunk-67RFEDXA.js";import"./chunk-VCCNAN7K.js";export{b as bls12_381,a as bls12_381_Fr};
