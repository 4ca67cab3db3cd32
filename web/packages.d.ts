declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Viewer {
    preauthorizeApiKey(scheme: string, value: string): void;
    getSystem(): {layoutActions: {show(place: string[], shown: boolean): void}};
  }
  export default function SwaggerUI(options: Record<string, unknown>): Viewer;
}
