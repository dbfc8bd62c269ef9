/** Before every test: the views are known, as on the page. */
import "./views/registry";
