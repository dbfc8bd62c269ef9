/** Made by ../licences.ts. */
declare module "virtual:licences" {
  const text: string;
  export default text;
}
