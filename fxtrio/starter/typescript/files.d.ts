// What the bundler makes of files that are no code.
declare module "*.css";
declare module "*.module.css" {
  const classes: Record<string, string>;
  export default classes;
}
declare module "*.svg" {
  const url: string;
  export default url;
}
