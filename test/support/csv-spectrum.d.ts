declare module 'csv-spectrum' {
  interface SpectrumFile {
    name: string;
    csv: Buffer;
    json: Buffer;
  }
  function csvSpectrum(done: (error: Error | null, files: SpectrumFile[]) => void): void;
  export default csvSpectrum;
}
