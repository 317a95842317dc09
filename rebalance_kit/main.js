// Made of page/main.js by scripts/bundle.py; edit there. Sources 6bb51f0f66118a05.
const $other = (() => {
// page/other.js
const said = 1;
async function tell() {}
const own = `// kept`;
return { said, tell };
})();
// page/main.js
const { said, tell: told } = $other;
export default { said, told };
