// The types of imported files that are not code.
declare module "*.css";
declare module "*.module.css" {
  const classes: Record<string, string>;
  export default classes;
}
declare module "*.svg" {
  const url: string;
  export default url;
}
