export default "a module";
