import java.io.File;
import org.codehaus.commons.compiler.ICompiler;

/** Compiles files to classes: arguments are the folder for the classes and the sources. Needs a Java runtime alone, no JDK. */
public class Build {
    public static void main(String[] args) throws Exception {
        ICompiler compiler = new org.codehaus.janino.CompilerFactory().newCompiler();
        compiler.setDestinationDirectory(new File(args[0]), false);
        File[] sources = new File[args.length - 1];
        for (int i = 1; i < args.length; i++) {
            sources[i - 1] = new File(args[i]);
        }
        compiler.setSourceVersion(8);
        compiler.setTargetVersion(8);
        compiler.compile(sources);
    }
}
